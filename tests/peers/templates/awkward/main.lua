-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	return {word = inputs.word or inputs.words[1]}
end
