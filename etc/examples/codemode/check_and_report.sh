# SPDX-License-Identifier: Apache-2.0
# The exit status of a call, as of any command.
if paddock-call check_records --inputs '{"records": [{"n": 1}], "rules": [{"field": "n", "required": true}]}' >check.json; then
	paddock-log info "all records pass"
	paddock-keep check.json check.json >/dev/null && echo kept
fi
paddock-call no_such_template 2>error.txt
echo "status $?: $(head -n 1 error.txt)"
