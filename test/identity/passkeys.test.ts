import './passkeys/assertions.ts'
import './passkeys/enrol.ts'
import './passkeys/revoke.ts'
import './passkeys/standing.ts'
