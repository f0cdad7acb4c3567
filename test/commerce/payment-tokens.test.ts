import './payment-tokens/charges.ts'
import './payment-tokens/races.ts'
import './payment-tokens/tokens.ts'
