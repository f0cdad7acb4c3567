import './authorizations/fold.ts'
import './authorizations/lifecycle.ts'
