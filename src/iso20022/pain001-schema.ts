import { oneOrMore, optional, required, type Shape } from './xml-schema.ts'

/** The characters that every SEPA bank must accept. */
const letters = (most: number) => new RegExp(`^[A-Za-z0-9/?:().,'+ -]{1,${most}}$`)
/** The same characters; an identifier neither begins nor ends with a slash, nor has two in a row. */
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
 * The subset of pain.001.001.09 that the EPC's rulebooks allow for a SEPA order and that we write. The schema is closed:
 * a message with any other element is not sent.
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
