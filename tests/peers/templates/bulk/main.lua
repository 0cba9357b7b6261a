-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	return {text = string.rep(inputs.of or "x", inputs.times)}
end
