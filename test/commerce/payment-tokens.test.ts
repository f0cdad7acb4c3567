import './payment-tokens/charges.ts'
import './payment-tokens/many-tokens.ts'
import './payment-tokens/races.ts'
import './payment-tokens/tokens.ts'
