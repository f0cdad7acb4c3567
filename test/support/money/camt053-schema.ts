import { oneOrMore, optional, required, zeroOrMore } from '../../../src/iso20022/xml-schema.ts'

/** The subset of camt.053.001.08 that we write, with the names, order, occurrences and formats of ISO's schema. */
const anyText = (longest: number) => new RegExp(`^[^\\0]{1,${longest}}$`, 'u')
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const date = /^\d{4}-\d\d-\d\d$/
const decimal = /^\d{1,13}\.\d\d$/

const amount = required('Amt', decimal, { Ccy: /^EUR$/ })
const direction = required('CdtDbtInd', /^(CRDT|DBIT)$/)
const day = [required('Dt', date)]

const number = [
  optional('IBAN', /^[A-Z]{2}\d{2}[a-zA-Z0-9]{1,30}$/),
  optional('Othr', [required('Id', anyText(34))]),
]
const account = [required('Id', number)]
const party = [required('Pty', [required('Nm', anyText(140))])]

const balance = [
  required('Tp', [required('CdOrPrtry', [required('Cd', /^(OPBD|CLBD|ITBD)$/)])]),
  amount,
  direction,
  required('Dt', day),
]

const code = required('BkTxCd', [
  required('Domn', [
    required('Cd', /^PMNT$/),
    required('Fmly', [
      required('Cd', /^(RCDT|ICDT|CCRD)$/),
      required('SubFmlyCd', /^(ESCT|RRTN|BOOK|OTHR|POSD|RIMB)$/),
    ]),
  ]),
])

const transaction = [
  required('Refs', [required('AcctSvcrRef', anyText(35)), optional('EndToEndId', anyText(35))]),
  amount,
  direction,
  required('RltdPties', [
    optional('Dbtr', party),
    optional('DbtrAcct', account),
    optional('Cdtr', party),
    optional('CdtrAcct', account),
  ]),
  optional('RmtInf', [required('Ustrd', anyText(140))]),
  optional('AddtlTxInf', anyText(500)),
]

const entry = [
  amount,
  direction,
  required('Sts', [required('Cd', /^BOOK$/)]),
  required('BookgDt', [required('DtTm', instant)]),
  required('ValDt', day),
  required('AcctSvcrRef', anyText(35)),
  code,
  required('NtryDtls', [required('TxDtls', transaction)]),
]

const statement = [
  required('Id', anyText(35)),
  required('ElctrncSeqNb', /^\d{6}$/),
  required('CreDtTm', instant),
  required('FrToDt', [required('FrDtTm', instant), required('ToDtTm', instant)]),
  required('Acct', [
    required('Id', number),
    required('Ccy', /^EUR$/),
    required('Ownr', [required('Nm', anyText(140))]),
    optional('Svcr', [
      required('FinInstnId', [required('BICFI', /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/)]),
    ]),
  ]),
  oneOrMore('Bal', balance),
  required('TxsSummry', [
    required('TtlNtries', [required('NbOfNtries', /^\d{1,15}$/), required('Sum', decimal)]),
    required('TtlCdtNtries', [required('Sum', decimal)]),
    required('TtlDbtNtries', [required('Sum', decimal)]),
  ]),
  zeroOrMore('Ntry', entry),
]

export const camt053Schema = required(
  'Document',
  [
    required('BkToCstmrStmt', [
      required('GrpHdr', [required('MsgId', anyText(35)), required('CreDtTm', instant)]),
      required('Stmt', statement),
    ]),
  ],
  // `xmlns` itself has an empty local name.
  { '': /^urn:iso:std:iso:20022:tech:xsd:camt\.053\.001\.08$/ },
)
