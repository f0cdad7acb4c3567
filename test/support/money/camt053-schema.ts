import { oneOrMore, optionalElement, requiredElement, zeroOrMore } from '../../../src/iso20022/xml-schema.ts'

/** The subset of camt.053.001.08 that we write, with the names, order, occurrences and formats of ISO's schema. */
const anyText = (longest: number) => new RegExp(`^[^\\0]{1,${longest}}$`, 'u')
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const date = /^\d{4}-\d\d-\d\d$/
const decimal = /^\d{1,13}\.\d\d$/

const amount = requiredElement('Amt', decimal, { Ccy: /^EUR$/ })
const direction = requiredElement('CdtDbtInd', /^(CRDT|DBIT)$/)
const day = [requiredElement('Dt', date)]

const number = [
  optionalElement('IBAN', /^[A-Z]{2}\d{2}[a-zA-Z0-9]{1,30}$/),
  optionalElement('Othr', [requiredElement('Id', anyText(34))]),
]
const account = [requiredElement('Id', number)]
const party = [requiredElement('Pty', [requiredElement('Nm', anyText(140))])]

const balance = [
  requiredElement('Tp', [requiredElement('CdOrPrtry', [requiredElement('Cd', /^(OPBD|CLBD|ITBD)$/)])]),
  amount,
  direction,
  requiredElement('Dt', day),
]

const code = requiredElement('BkTxCd', [
  requiredElement('Domn', [
    requiredElement('Cd', /^PMNT$/),
    requiredElement('Fmly', [
      requiredElement('Cd', /^(RCDT|ICDT|CCRD)$/),
      requiredElement('SubFmlyCd', /^(ESCT|RRTN|BOOK|OTHR|POSD|RIMB)$/),
    ]),
  ]),
])

const currency = /^[A-Z]{3}$/

const amountDetails = [
  requiredElement('InstdAmt', [
    requiredElement('Amt', /^\d{1,15}(\.\d{1,5})?$/, { Ccy: currency }),
    requiredElement('CcyXchg', [
      requiredElement('SrcCcy', currency),
      requiredElement('TrgtCcy', currency),
      requiredElement('UnitCcy', currency),
      requiredElement('XchgRate', /^(?=[\d.]{1,12}$)\d+(\.\d{1,10})?$/),
    ]),
  ]),
  requiredElement('TxAmt', [amount]),
]

const transaction = [
  requiredElement('Refs', [
    requiredElement('AcctSvcrRef', anyText(35)),
    optionalElement('EndToEndId', anyText(35)),
  ]),
  amount,
  direction,
  optionalElement('AmtDtls', amountDetails),
  requiredElement('RltdPties', [
    optionalElement('Dbtr', party),
    optionalElement('DbtrAcct', account),
    optionalElement('Cdtr', party),
    optionalElement('CdtrAcct', account),
  ]),
  optionalElement('RmtInf', [requiredElement('Ustrd', anyText(140))]),
  optionalElement('AddtlTxInf', anyText(500)),
]

const entry = [
  amount,
  direction,
  requiredElement('Sts', [requiredElement('Cd', /^BOOK$/)]),
  requiredElement('BookgDt', [requiredElement('DtTm', instant)]),
  requiredElement('ValDt', day),
  requiredElement('AcctSvcrRef', anyText(35)),
  code,
  requiredElement('NtryDtls', [requiredElement('TxDtls', transaction)]),
]

const statement = [
  requiredElement('Id', anyText(35)),
  requiredElement('ElctrncSeqNb', /^\d{6}$/),
  requiredElement('CreDtTm', instant),
  requiredElement('FrToDt', [requiredElement('FrDtTm', instant), requiredElement('ToDtTm', instant)]),
  requiredElement('Acct', [
    requiredElement('Id', number),
    requiredElement('Ccy', /^EUR$/),
    requiredElement('Ownr', [requiredElement('Nm', anyText(140))]),
    optionalElement('Svcr', [
      requiredElement('FinInstnId', [
        requiredElement('BICFI', /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/),
      ]),
    ]),
  ]),
  oneOrMore('Bal', balance),
  requiredElement('TxsSummry', [
    requiredElement('TtlNtries', [
      requiredElement('NbOfNtries', /^\d{1,15}$/),
      requiredElement('Sum', decimal),
    ]),
    requiredElement('TtlCdtNtries', [requiredElement('Sum', decimal)]),
    requiredElement('TtlDbtNtries', [requiredElement('Sum', decimal)]),
  ]),
  zeroOrMore('Ntry', entry),
]

export const camt053Schema = requiredElement(
  'Document',
  [
    requiredElement('BkToCstmrStmt', [
      requiredElement('GrpHdr', [requiredElement('MsgId', anyText(35)), requiredElement('CreDtTm', instant)]),
      requiredElement('Stmt', statement),
    ]),
  ],
  // `xmlns` itself has an empty local name.
  { '': /^urn:iso:std:iso:20022:tech:xsd:camt\.053\.001\.08$/ },
)
