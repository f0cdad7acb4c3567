import './token-payments/acquirer.ts'
import './token-payments/decisions.ts'
import './token-payments/outcomes.ts'
import './token-payments/tokens.ts'
