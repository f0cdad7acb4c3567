import './collect/requests.ts'
import './collect/sepa-payments.ts'
import './collect/endings.ts'
