import './payer-page/by-http.ts'
import './payer-page/epc-code.ts'
import './payer-page/in-browser.ts'
