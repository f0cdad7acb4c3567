import type { OrderedPayment, PaymentFileOrder } from '../ports/sepa-rail.ts'
import { formatDecimal, sumOf } from '../values/money.ts'
import { MAX_SEPA_NAME_LENGTH, toSepaText } from './sepa-charset.ts'
import type { XmlElement } from './xml-reader.ts'
import {
  oneOrMore,
  optionalElement,
  requiredElement,
  schemaViolation,
  type XmlContentModel,
} from './xml-schema.ts'
import { writeXml, xmlElement } from './xml-writer.ts'

/** The characters that every SEPA bank must accept. */
const letters = (most: number) => new RegExp(`^[A-Za-z0-9/?:().,'+ -]{1,${most}}$`)
const identifier = /^(?!\/)(?!.*\/\/)[A-Za-z0-9/?:().,'+ -]{0,34}[A-Za-z0-9?:().,'+ -]$/
const count = /^[1-9]\d{0,14}$/
const total = /^\d{1,15}\.\d{2}$/
const name = letters(70)

const account: XmlContentModel = [
  requiredElement('Id', [requiredElement('IBAN', /^[A-Z]{2}\d{2}[A-Za-z0-9]{1,30}$/)]),
]
const bic = /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/
const bank: XmlContentModel = [
  requiredElement('FinInstnId', [
    optionalElement('BICFI', bic),
    optionalElement('Othr', [requiredElement('Id', /^NOTPROVIDED$/)]),
  ]),
]

const payment: XmlContentModel = [
  requiredElement('PmtId', [requiredElement('EndToEndId', identifier)]),
  requiredElement('Amt', [requiredElement('InstdAmt', /^(?!0+\.00$)\d{1,9}\.\d{2}$/, { Ccy: /^EUR$/ })]),
  optionalElement('CdtrAgt', bank),
  requiredElement('Cdtr', [requiredElement('Nm', name)]),
  requiredElement('CdtrAcct', account),
  optionalElement('RmtInf', [requiredElement('Ustrd', letters(140))]),
]

/**
 * The subset of pain.001.001.09 that the EPC's rulebooks allow for a SEPA order and that this service writes.
 * The schema is closed: a message with any other element is not sent.
 */
export const pain001Schema = requiredElement('Document', [
  requiredElement('CstmrCdtTrfInitn', [
    requiredElement('GrpHdr', [
      requiredElement('MsgId', identifier),
      requiredElement('CreDtTm', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      requiredElement('NbOfTxs', count),
      requiredElement('CtrlSum', total),
      requiredElement('InitgPty', [requiredElement('Nm', name)]),
    ]),
    requiredElement('PmtInf', [
      requiredElement('PmtInfId', identifier),
      requiredElement('PmtMtd', /^TRF$/),
      requiredElement('BtchBookg', /^false$/),
      requiredElement('NbOfTxs', count),
      requiredElement('CtrlSum', total),
      requiredElement('PmtTpInf', [
        requiredElement('SvcLvl', [requiredElement('Cd', /^SEPA$/)]),
        optionalElement('LclInstrm', [requiredElement('Cd', /^INST$/)]),
      ]),
      requiredElement('ReqdExctnDt', [requiredElement('Dt', /^\d{4}-\d\d-\d\d$/)]),
      requiredElement('Dbtr', [requiredElement('Nm', name)]),
      requiredElement('DbtrAcct', account),
      requiredElement('DbtrAgt', bank),
      requiredElement('ChrgBr', /^SLEV$/),
      oneOrMore('CdtTrfTxInf', payment),
    ]),
  ]),
])

const NAMESPACE = 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09'

export interface SepaDebtor {
  readonly name: string
  readonly iban: string
  readonly bic: string | null
}

/** An order that breaks the schema is a defect of the service, so it throws. */
export function writePain001(order: PaymentFileOrder, debtor: SepaDebtor): string {
  const document = documentOf(order, debtor)
  const problem = schemaViolation(document, pain001Schema)
  if (problem) throw new Error(`${order.messageId} cannot be ordered: ${problem}`)
  return writeXml(document, NAMESPACE)
}

/** Checked for each payment before it joins a file: one invalid payment would stop the file. */
export const isValidPain001Order = (order: PaymentFileOrder, debtor: SepaDebtor): boolean =>
  schemaViolation(documentOf(order, debtor), pain001Schema) === undefined

function documentOf(order: PaymentFileOrder, debtor: SepaDebtor): XmlElement {
  const name = toSepaText(debtor.name, MAX_SEPA_NAME_LENGTH)
  const parts = [headerOf(order, name), partOf(order, { ...debtor, name })]
  return xmlElement('Document', [xmlElement('CstmrCdtTrfInitn', parts)])
}

const totalsOf = ({ payments }: PaymentFileOrder): XmlElement[] => [
  xmlElement('NbOfTxs', String(payments.length)),
  xmlElement('CtrlSum', formatDecimal(sumOf(payments.map(({ amountCents }) => amountCents)))),
]

const headerOf = (order: PaymentFileOrder, name: string): XmlElement =>
  xmlElement('GrpHdr', [
    xmlElement('MsgId', order.messageId),
    xmlElement('CreDtTm', order.madeAt.toISOString()),
    ...totalsOf(order),
    xmlElement('InitgPty', [xmlElement('Nm', name)]),
  ])

/** `BtchBookg` is false, so that the bank's statement has an entry for each payment under its own reference. */
const partOf = (order: PaymentFileOrder, { name, iban, bic }: SepaDebtor): XmlElement =>
  xmlElement('PmtInf', [
    xmlElement('PmtInfId', order.messageId),
    xmlElement('PmtMtd', 'TRF'),
    xmlElement('BtchBookg', 'false'),
    ...totalsOf(order),
    xmlElement('PmtTpInf', [
      xmlElement('SvcLvl', [xmlElement('Cd', 'SEPA')]),
      order.scheme === 'sct_inst' ? xmlElement('LclInstrm', [xmlElement('Cd', 'INST')]) : undefined,
    ]),
    xmlElement('ReqdExctnDt', [xmlElement('Dt', order.executeOn)]),
    xmlElement('Dbtr', [xmlElement('Nm', name)]),
    accountOf('DbtrAcct', iban),
    xmlElement('DbtrAgt', [
      xmlElement('FinInstnId', [
        bic ? xmlElement('BICFI', bic) : xmlElement('Othr', [xmlElement('Id', 'NOTPROVIDED')]),
      ]),
    ]),
    xmlElement('ChrgBr', 'SLEV'),
    ...order.payments.map(paymentOf),
  ])

const accountOf = (name: string, iban: string): XmlElement =>
  xmlElement(name, [xmlElement('Id', [xmlElement('IBAN', iban)])])

const paymentOf = ({ endToEndId, amountCents, payee, reference }: OrderedPayment): XmlElement =>
  xmlElement('CdtTrfTxInf', [
    xmlElement('PmtId', [xmlElement('EndToEndId', endToEndId)]),
    xmlElement('Amt', [xmlElement('InstdAmt', formatDecimal(amountCents), { Ccy: 'EUR' })]),
    payee.bic
      ? xmlElement('CdtrAgt', [xmlElement('FinInstnId', [xmlElement('BICFI', payee.bic)])])
      : undefined,
    xmlElement('Cdtr', [xmlElement('Nm', payee.name)]),
    accountOf('CdtrAcct', payee.iban),
    reference ? xmlElement('RmtInf', [xmlElement('Ustrd', reference)]) : undefined,
  ])
