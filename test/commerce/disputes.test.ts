import './disputes/deadlines.ts'
import './disputes/life.ts'
import './disputes/refunded-meanwhile.ts'
import './disputes/refusals.ts'
