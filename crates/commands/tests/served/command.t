> COMMAND LIST FILTERBY PATTERN getran*     =["getrange"]
> COMMAND LIST FILTERBY PATTERN none       =[]
> COMMAND LIST FILTERBY MODULE none        =[]
> COMMAND LIST FILTERBY ACLCAT none        =[]
> COMMAND LIST FILTERBY                    !ERR syntax error
> COMMAND GETKEYS lmpop 2 a b LEFT         =["a", "b"]
