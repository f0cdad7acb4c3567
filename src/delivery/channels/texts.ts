import type { Cents } from '../../values/money.ts'
import { htmlToText } from '../../web/html.ts'
import { formatAmountIn, type Language } from '../../web/language.ts'
import type { QuestionFacts, QuestionKind } from './questions.ts'

/** A message in one language, before it is written for e-mail, Slack or Teams. Each text is one line. */
export interface Content {
  readonly language: Language
  readonly title: string
  readonly facts: readonly (readonly [label: string, value: string])[]
  readonly link: { readonly label: string; readonly url: string } | null
  readonly notes: readonly string[]
}

/** People and agents choose their names: one line, without characters that hide or turn text. */
const line = (text: string): string => htmlToText(text, 80)

const quoted = (text: string, language: Language): string => (language === 'de' ? `„${text}“` : `“${text}”`)

const labels = {
  en: {
    agent: 'Agent',
    amount: 'Amount',
    payee: 'Payee',
    purpose: 'Purpose',
    person: 'Person',
    code: 'Code',
    account: 'Account',
    unknownAgent: 'You',
    review: 'Review',
    open: 'Open the link',
    test: 'Test',
    decide: 'You decide on that page, with your passkey. Opening the link decides nothing.',
    last: 'You get no more messages this hour. The inbox in the console has all that waits.',
  },
  de: {
    agent: 'Agent',
    amount: 'Betrag',
    payee: 'Empfänger',
    purpose: 'Zweck',
    person: 'Person',
    code: 'Code',
    account: 'Konto',
    unknownAgent: 'Sie',
    review: 'Prüfen',
    open: 'Link öffnen',
    test: 'Test',
    decide: 'Sie entscheiden auf dieser Seite, mit Ihrem Passkey. Das Öffnen des Links entscheidet nichts.',
    last: 'In dieser Stunde kommen keine weiteren Nachrichten. Im Eingang der Konsole steht alles, was wartet.',
  },
} as const satisfies Record<Language, Record<string, string>>

type Titles = Readonly<Record<QuestionKind, (who: string, amount: string) => string>>

const titles: Readonly<Record<Language, Titles>> = {
  en: {
    intent: (who, amount) => `${who} asks to spend ${amount}`,
    card_request: (who, amount) => `${who} asks for a card or its limits${amount && `: ${amount}`}`,
    change_request: () => 'A change waits for several people',
    transfer: (_, amount) => `The bank doubts the payee of a transfer of ${amount}`,
    recovery: who => `The access of ${who} is being recovered`,
  },
  de: {
    intent: (who, amount) => `${who} möchte ${amount} ausgeben`,
    card_request: (who, amount) => `${who} bittet um eine Karte oder ihr Limit${amount && `: ${amount}`}`,
    change_request: () => 'Eine Änderung wartet auf mehrere Personen',
    transfer: (_, amount) => `Die Bank zweifelt am Empfänger einer Überweisung von ${amount}`,
    recovery: who => `Der Zugang von ${who} wird wiederhergestellt`,
  },
}

const recoveryNote: Readonly<Record<Language, string>> = {
  en: 'Everyone of the account can stop it on that page. Do so unless you know of it.',
  de: 'Alle im Konto können das auf dieser Seite anhalten. Tun Sie es, wenn Sie nichts davon wissen.',
}

interface QuestionTexts {
  readonly kind: QuestionKind
  readonly facts: QuestionFacts
  readonly url: string
  readonly isTest: boolean
  /** The owner has switched on payee and purpose. */
  readonly hasDetails: boolean
  readonly isLastOfHour: boolean
}

export function questionContent(
  { kind, facts, url, isTest, hasDetails, isLastOfHour }: QuestionTexts,
  language: Language,
): Content {
  const words = labels[language]
  const amount = facts.amountCents === null ? '' : amountIn(language, facts.amountCents)
  const named = facts.person ?? facts.agent
  const who = named === null ? words.unknownAgent : quoted(line(named), language)
  const title = titles[language][kind](who, amount)
  const details = hasDetails
    ? ([
        [words.payee, facts.payee],
        [words.purpose, facts.purpose],
      ] as const)
    : []
  const given = [
    [words.agent, facts.agent],
    [words.amount, amount],
    ...details,
    [words.person, facts.person],
  ] as const
  return {
    language,
    title: isTest ? `[${words.test}] ${title}` : title,
    facts: given.flatMap(([label, value]) => (value ? [[label, line(value)] as const] : [])),
    link: { label: words.review, url },
    notes: [
      kind === 'recovery' ? recoveryNote[language] : words.decide,
      ...(isLastOfHour ? [words.last] : []),
    ],
  }
}

/** A space that does not break would be marked as an invisible character. */
const amountIn = (language: Language, amount: Cents): string =>
  formatAmountIn(language, amount).replaceAll('\u00a0', ' ')

const codeTexts = {
  en: {
    title: 'Your code for Agent Payments',
    note: 'Enter it in the console within 15 minutes. Messages are sent here only then. If you did not add this channel, ignore this message.',
  },
  de: {
    title: 'Ihr Code für Agent Payments',
    note: 'Geben Sie ihn innerhalb von 15 Minuten in der Konsole ein. Erst dann kommen Nachrichten hierher. Wenn Sie diesen Kanal nicht angelegt haben, beachten Sie diese Nachricht nicht.',
  },
} as const satisfies Record<Language, Record<string, string>>

export const codeContent = (code: string, language: Language): Content => ({
  language,
  title: codeTexts[language].title,
  facts: [[labels[language].code, code]],
  link: null,
  notes: [codeTexts[language].note],
})

interface LinkTexts {
  readonly kind: 'join' | 'recovery'
  readonly account: string
  readonly url: string
}

const linkTexts = {
  en: {
    join: 'Your access to Agent Payments',
    recovery: 'Your access to Agent Payments is restored',
    note: 'The link works once. Open it, and press the button there to create your passkey. If you do not expect it, tell the people of the account.',
  },
  de: {
    join: 'Ihr Zugang zu Agent Payments',
    recovery: 'Ihr Zugang zu Agent Payments ist wiederhergestellt',
    note: 'Der Link gilt einmal. Öffnen Sie ihn und drücken Sie dort den Knopf, um Ihren Passkey anzulegen. Wenn Sie ihn nicht erwarten, sagen Sie es den Personen im Konto.',
  },
} as const satisfies Record<Language, Record<string, string>>

export const linkContent = ({ kind, account, url }: LinkTexts, language: Language): Content => ({
  language,
  title: linkTexts[language][kind],
  facts: [[labels[language].account, line(account)]],
  link: { label: labels[language].open, url },
  notes: [linkTexts[language].note],
})
