import type { Order, Ordered } from '../ports/sepa-rail.ts'
import { decimal, sumOf } from '../values/money.ts'
import { LONGEST_NAME, sepaText } from './sepa-charset.ts'
import type { XmlElement } from './xml-reader.ts'
import { oneOrMore, optional, required, type Shape, schemaViolation } from './xml-schema.ts'
import { element, writeXml } from './xml-writer.ts'

/** The characters that every SEPA bank must accept. */
const letters = (most: number) => new RegExp(`^[A-Za-z0-9/?:().,'+ -]{1,${most}}$`)
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
 * The subset of pain.001.001.09 that the EPC's rulebooks allow for a SEPA order and that this service writes.
 * The schema is closed: a message with any other element is not sent.
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

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09'

export interface Debtor {
  readonly name: string
  readonly iban: string
  readonly bic: string | null
}

/** An order that breaks the schema is a defect of the service, so it throws. */
export function pain001(order: Order, debtor: Debtor): string {
  const document = documentOf(order, debtor)
  const problem = schemaViolation(document, pain001Schema)
  if (problem) throw new Error(`${order.messageId} cannot be ordered: ${problem}`)
  return writeXml(document, NAMESPACE)
}

/** Checked for each payment before it joins a file: one invalid payment would stop the file. */
export const canBeOrdered = (order: Order, debtor: Debtor): boolean =>
  schemaViolation(documentOf(order, debtor), pain001Schema) === undefined

function documentOf(order: Order, debtor: Debtor): XmlElement {
  const name = sepaText(debtor.name, LONGEST_NAME)
  const parts = [headerOf(order, name), partOf(order, { ...debtor, name })]
  return element('Document', [element('CstmrCdtTrfInitn', parts)])
}

const totalsOf = ({ payments }: Order): XmlElement[] => [
  element('NbOfTxs', String(payments.length)),
  element('CtrlSum', decimal(sumOf(payments.map(({ amountCents }) => amountCents)))),
]

const headerOf = (order: Order, name: string): XmlElement =>
  element('GrpHdr', [
    element('MsgId', order.messageId),
    element('CreDtTm', order.madeAt.toISOString()),
    ...totalsOf(order),
    element('InitgPty', [element('Nm', name)]),
  ])

/** `BtchBookg` is false, so that the bank's statement has an entry for each payment under its own reference. */
const partOf = (order: Order, { name, iban, bic }: Debtor): XmlElement =>
  element('PmtInf', [
    element('PmtInfId', order.messageId),
    element('PmtMtd', 'TRF'),
    element('BtchBookg', 'false'),
    ...totalsOf(order),
    element('PmtTpInf', [
      element('SvcLvl', [element('Cd', 'SEPA')]),
      order.scheme === 'sct_inst' ? element('LclInstrm', [element('Cd', 'INST')]) : undefined,
    ]),
    element('ReqdExctnDt', [element('Dt', order.executeOn)]),
    element('Dbtr', [element('Nm', name)]),
    accountOf('DbtrAcct', iban),
    element('DbtrAgt', [
      element('FinInstnId', [bic ? element('BICFI', bic) : element('Othr', [element('Id', 'NOTPROVIDED')])]),
    ]),
    element('ChrgBr', 'SLEV'),
    ...order.payments.map(paymentOf),
  ])

const accountOf = (name: string, iban: string): XmlElement =>
  element(name, [element('Id', [element('IBAN', iban)])])

const paymentOf = ({ endToEndId, amountCents, payee, reference }: Ordered): XmlElement =>
  element('CdtTrfTxInf', [
    element('PmtId', [element('EndToEndId', endToEndId)]),
    element('Amt', [element('InstdAmt', decimal(amountCents), { Ccy: 'EUR' })]),
    payee.bic ? element('CdtrAgt', [element('FinInstnId', [element('BICFI', payee.bic)])]) : undefined,
    element('Cdtr', [element('Nm', payee.name)]),
    accountOf('CdtrAcct', payee.iban),
    reference ? element('RmtInf', [element('Ustrd', reference)]) : undefined,
  ])
