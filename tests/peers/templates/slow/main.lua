-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	run.sleep(inputs.ms)
	if inputs.fail then
		run.error("NO_LUCK", "it was not to be")
	end
	return {slept = inputs.ms}
end
