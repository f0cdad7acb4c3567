import { any, maybeOne, one, some } from '../../../src/iso20022/xml-schema.ts'

/** Of camt.053.001.08 what we write: names, order, how often, and the forms of the values, as the schema has them. */
const anyText = (longest: number) => new RegExp(`^[^\\0]{1,${longest}}$`, 'u')
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const date = /^\d{4}-\d\d-\d\d$/
const decimal = /^\d{1,13}\.\d\d$/

const amount = one('Amt', decimal, { Ccy: /^EUR$/ })
const direction = one('CdtDbtInd', /^(CRDT|DBIT)$/)
const day = [one('Dt', date)]

const number = [
  maybeOne('IBAN', /^[A-Z]{2}\d{2}[a-zA-Z0-9]{1,30}$/),
  maybeOne('Othr', [one('Id', anyText(34))]),
]
const account = [one('Id', number)]
const party = [one('Pty', [one('Nm', anyText(140))])]

const balance = [
  one('Tp', [one('CdOrPrtry', [one('Cd', /^(OPBD|CLBD|ITBD)$/)])]),
  amount,
  direction,
  one('Dt', day),
]

const code = one('BkTxCd', [
  one('Domn', [
    one('Cd', /^PMNT$/),
    one('Fmly', [one('Cd', /^(RCDT|ICDT)$/), one('SubFmlyCd', /^(ESCT|RRTN|BOOK|OTHR)$/)]),
  ]),
])

const transaction = [
  one('Refs', [one('AcctSvcrRef', anyText(35)), maybeOne('EndToEndId', anyText(35))]),
  amount,
  direction,
  one('RltdPties', [
    maybeOne('Dbtr', party),
    maybeOne('DbtrAcct', account),
    maybeOne('Cdtr', party),
    maybeOne('CdtrAcct', account),
  ]),
  maybeOne('RmtInf', [one('Ustrd', anyText(140))]),
  maybeOne('AddtlTxInf', anyText(500)),
]

const entry = [
  amount,
  direction,
  one('Sts', [one('Cd', /^BOOK$/)]),
  one('BookgDt', [one('DtTm', instant)]),
  one('ValDt', day),
  one('AcctSvcrRef', anyText(35)),
  code,
  one('NtryDtls', [one('TxDtls', transaction)]),
]

const statement = [
  one('Id', anyText(35)),
  one('ElctrncSeqNb', /^\d{6}$/),
  one('CreDtTm', instant),
  one('FrToDt', [one('FrDtTm', instant), one('ToDtTm', instant)]),
  one('Acct', [
    one('Id', number),
    one('Ccy', /^EUR$/),
    one('Ownr', [one('Nm', anyText(140))]),
    maybeOne('Svcr', [one('FinInstnId', [one('BICFI', /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/)])]),
  ]),
  some('Bal', balance),
  one('TxsSummry', [
    one('TtlNtries', [one('NbOfNtries', /^\d{1,15}$/), one('Sum', decimal)]),
    one('TtlCdtNtries', [one('Sum', decimal)]),
    one('TtlDbtNtries', [one('Sum', decimal)]),
  ]),
  any('Ntry', entry),
]

export const camt053Shape = one(
  'Document',
  [
    one('BkToCstmrStmt', [
      one('GrpHdr', [one('MsgId', anyText(35)), one('CreDtTm', instant)]),
      one('Stmt', statement),
    ]),
  ],
  // The namespace has no name of its own.
  { '': /^urn:iso:std:iso:20022:tech:xsd:camt\.053\.001\.08$/ },
)
