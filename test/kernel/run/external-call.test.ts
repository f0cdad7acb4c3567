import './external-call/chains.ts'
import './external-call/single-calls.ts'
