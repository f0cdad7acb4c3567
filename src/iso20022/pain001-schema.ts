import { oneOrMore, optional, required, type Shape } from './xml-schema.ts'

/** The characters that every bank of SEPA takes. */
const letters = (most: number) => new RegExp(`^[A-Za-z0-9/?:().,'+ -]{1,${most}}$`)
/** An identifier besides does not begin or end with a slash, and has no two of them. */
const identifier = /^(?!\/)(?!.*\/\/)[A-Za-z0-9/?:().,'+ -]{0,34}[A-Za-z0-9?:().,'+ -]$/
const count = /^[1-9]\d{0,14}$/
const total = /^\d{1,15}\.\d{2}$/
const name = letters(70)

const account: Shape = [required('Id', [required('IBAN', /^[A-Z]{2}\d{2}[A-Za-z0-9]{1,30}$/)])]
const bic = /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/
const bank: Shape = [
  required('FinInstnId', [optional('BICFI', bic), optional('Othr', [required('Id', /^NOTPROVIDED$/)])]),
]

const payment: Shape = [
  required('PmtId', [required('EndToEndId', identifier)]),
  required('Amt', [required('InstdAmt', /^(?!0+\.00$)\d{1,9}\.\d{2}$/, { Ccy: /^EUR$/ })]),
  optional('CdtrAgt', bank),
  required('Cdtr', [required('Nm', name)]),
  required('CdtrAcct', account),
  optional('RmtInf', [required('Ustrd', letters(140))]),
]

/**
 * The part of pain.001.001.09 that the EPC's rulebooks leave to an order by SEPA and that we write. It is closed: what
 * is not in it does not leave, and all of it is in ISO's schema.
 */
export const pain001Schema = required('Document', [
  required('CstmrCdtTrfInitn', [
    required('GrpHdr', [
      required('MsgId', identifier),
      required('CreDtTm', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      required('NbOfTxs', count),
      required('CtrlSum', total),
      required('InitgPty', [required('Nm', name)]),
    ]),
    required('PmtInf', [
      required('PmtInfId', identifier),
      required('PmtMtd', /^TRF$/),
      required('BtchBookg', /^false$/),
      required('NbOfTxs', count),
      required('CtrlSum', total),
      required('PmtTpInf', [
        required('SvcLvl', [required('Cd', /^SEPA$/)]),
        optional('LclInstrm', [required('Cd', /^INST$/)]),
      ]),
      required('ReqdExctnDt', [required('Dt', /^\d{4}-\d\d-\d\d$/)]),
      required('Dbtr', [required('Nm', name)]),
      required('DbtrAcct', account),
      required('DbtrAgt', bank),
      required('ChrgBr', /^SLEV$/),
      oneOrMore('CdtTrfTxInf', payment),
    ]),
  ]),
])
