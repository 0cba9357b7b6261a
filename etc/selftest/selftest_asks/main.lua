return function() return "it ran" end
