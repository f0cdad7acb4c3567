import './cli-auth/pairing.ts'
import './cli-auth/refused.ts'
import './cli-auth/ends.ts'
