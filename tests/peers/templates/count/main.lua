-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
	for i = 1, inputs.to do
		run.progress(i, inputs.to, "at " .. i)
		run.sleep(60)
	end
	return {counted = inputs.to}
end
