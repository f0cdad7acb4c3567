import './authorizations/decisions-again.ts'
import './authorizations/fold.ts'
import './authorizations/lifecycle.ts'
import './authorizations/locked-agent.ts'
