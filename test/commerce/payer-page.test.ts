import './payer-page/epc-code.ts'
import './payer-page/language.ts'
