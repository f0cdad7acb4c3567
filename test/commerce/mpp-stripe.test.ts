import './mpp-stripe/confirmed.ts'
import './mpp-stripe/ending.ts'
import './mpp-stripe/paying.ts'
import './mpp-stripe/received.ts'
