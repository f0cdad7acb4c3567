import './payer-page/by-http.ts'
import './payer-page/epc-code.ts'
