-- SPDX-License-Identifier: Apache-2.0
return function(run)
	run.error("NO_LUCK", "it was not to be")
end
