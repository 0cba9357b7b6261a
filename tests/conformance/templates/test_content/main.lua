return function(run)
	return run.reply{content = {
		{type = "text", text = "See my resources and prompts."},
	}}
end
