import './external-call/chains.ts'
import './external-call/kept-answers.ts'
import './external-call/single-calls.ts'
import './external-call/taken-together.ts'
