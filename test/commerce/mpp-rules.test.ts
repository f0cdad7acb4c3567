import './mpp/merchant-bodies.ts'
import './mpp/merchant-requests.ts'
import './mpp/payees.ts'
import './mpp/rule-patterns.ts'
