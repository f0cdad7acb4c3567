import { maybeOne, one, type Shape, some } from './xml-schema.ts'

/** The characters that every bank of SEPA takes. */
const letters = (most: number) => new RegExp(`^[A-Za-z0-9/?:().,'+ -]{1,${most}}$`)
/** An identifier besides does not begin or end with a slash, and has no two of them. */
const identifier = /^(?!\/)(?!.*\/\/)[A-Za-z0-9/?:().,'+ -]{0,34}[A-Za-z0-9?:().,'+ -]$/
const count = /^[1-9]\d{0,14}$/
const total = /^\d{1,15}\.\d{2}$/
const name = letters(70)

const account: Shape = [one('Id', [one('IBAN', /^[A-Z]{2}\d{2}[A-Za-z0-9]{1,30}$/)])]
const bic = /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/
const bank: Shape = [
  one('FinInstnId', [maybeOne('BICFI', bic), maybeOne('Othr', [one('Id', /^NOTPROVIDED$/)])]),
]

const payment: Shape = [
  one('PmtId', [one('EndToEndId', identifier)]),
  one('Amt', [one('InstdAmt', /^(?!0+\.00$)\d{1,9}\.\d{2}$/, { Ccy: /^EUR$/ })]),
  maybeOne('CdtrAgt', bank),
  one('Cdtr', [one('Nm', name)]),
  one('CdtrAcct', account),
  maybeOne('RmtInf', [one('Ustrd', letters(140))]),
]

/**
 * The part of pain.001.001.09 that the EPC's rulebooks leave to an order by SEPA and that we write. It is closed: what
 * is not in it does not leave, and all of it is in ISO's schema.
 */
export const pain001Shape = one('Document', [
  one('CstmrCdtTrfInitn', [
    one('GrpHdr', [
      one('MsgId', identifier),
      one('CreDtTm', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      one('NbOfTxs', count),
      one('CtrlSum', total),
      one('InitgPty', [one('Nm', name)]),
    ]),
    one('PmtInf', [
      one('PmtInfId', identifier),
      one('PmtMtd', /^TRF$/),
      one('BtchBookg', /^false$/),
      one('NbOfTxs', count),
      one('CtrlSum', total),
      one('PmtTpInf', [one('SvcLvl', [one('Cd', /^SEPA$/)]), maybeOne('LclInstrm', [one('Cd', /^INST$/)])]),
      one('ReqdExctnDt', [one('Dt', /^\d{4}-\d\d-\d\d$/)]),
      one('Dbtr', [one('Nm', name)]),
      one('DbtrAcct', account),
      one('DbtrAgt', bank),
      one('ChrgBr', /^SLEV$/),
      some('CdtTrfTxInf', payment),
    ]),
  ]),
])
