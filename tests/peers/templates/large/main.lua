-- SPDX-License-Identifier: Apache-2.0
return function(run, inputs)
  run.artifact{name = "size.txt", mimeType = "text/plain", data = tostring(inputs.bytes)}
  return {text = string.rep("x", inputs.bytes)}
end
