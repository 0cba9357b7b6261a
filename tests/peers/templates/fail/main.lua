return function(run)
	run.error("NO_LUCK", "it was not to be")
end
