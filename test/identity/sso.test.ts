import './sso/attacks.ts'
import './sso/configuring.ts'
import './sso/other-owners.ts'
import './sso/signing-in.ts'
