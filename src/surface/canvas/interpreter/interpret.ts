import { changes } from './change-forms.ts'
import { type Marked, marked } from './marks.ts'
import type { Form, Meaning, NamedAgent, Slots, World } from './meaning.ts'
import { aboutMoney } from './money-forms.ts'
import { aboutRecords } from './record-forms.ts'

/** What a mark may be: strictly what was found, or also what nobody knows. */
const MARKS: Readonly<Record<string, string>> = {
  agent: '(?:‹agent(?<agent>\\d+)›|(?<someAgent>(?:the|my|our) agent|it|him|her|them))',
  number: '‹number(?<number>\\d+)›',
  merchant: "(?:‹merchant(?<merchant>\\d+)›|(?<someMerchant>[\\p{L}\\d][\\p{L}\\d &'.-]{0,60}))",
  intent: '‹intent(?<intent>\\d+)›',
  per: '‹per›',
  period: '‹period›',
  text: "(?:‹merchant(?<quoted>\\d+)›|(?<text>[\\p{L}\\d][\\p{L}\\d &'._-]{0,80}))",
  show: '(?:show|list|display|give|get|tell|see|view|open|find)(?: me)?(?: about)?',
}

/** A name where an agent should stand, and that no agent has. */
const UNKNOWN_AGENT = "(?<unknownAgent>\\p{L}[\\p{L}\\d'_-]{0,40})"

const reads = [...aboutMoney, ...aboutRecords]

interface Rule {
  readonly name: string
  readonly pattern: RegExp
}

/** An agent that talks of itself: its token knows no other one. An owner with several agents is asked which one. */
const CHANGE_MARKS = { ...MARKS, agent: MARKS.agent?.replace('|it|', '|i|me|my|myself|it|') ?? '' }

const compiled = (forms: readonly Form[], marks: Readonly<Record<string, string>>): Rule[] =>
  forms.flatMap(({ name, forms: all }) =>
    all.map(form => ({
      name,
      pattern: new RegExp(`^${form.replace(/\{(\w+)\}/g, (_, mark: string) => marks[mark] ?? '')}$`, 'u'),
    })),
  )

/** Changes are looked at first: "let Reader spend" is no question. */
const strict = [...compiled(changes, CHANGE_MARKS), ...compiled(reads, MARKS)]
/** In which somebody is named whom nobody knows; a sentence that is only a name says nothing. */
const lax = compiled(
  [...changes, ...reads.filter(({ name }) => name !== 'agent')].map(({ name, forms }) => ({
    name,
    forms: forms.filter(form => form.includes('{agent}')),
  })),
  { ...MARKS, agent: UNKNOWN_AGENT },
)

/** Longer than any of the forms: nobody asks so. */
const LONGEST = 400

/** What a sentence means. It is pure, and reads no more than it is given. */
export function interpret(sentence: string, world: World): Meaning {
  if (sentence.length > LONGEST) return { kind: 'unknown' }
  const found = marked(sentence, world)
  for (const { name, pattern } of strict) {
    const match = pattern.exec(found.text)
    if (match) return meaningOf(name, match.groups ?? {}, found, world, sentence)
  }
  for (const { pattern } of lax) {
    const unknown = pattern.exec(found.text)?.groups?.unknownAgent
    if (unknown !== undefined) return unclear(`There is no agent called ${unknown}. ${namesIn(world)}`)
  }
  return { kind: 'unknown' }
}

const unclear = (question: string): Meaning => ({ kind: 'unclear', question })

/** More agents than anybody wants to read the names of. */
const FEW = 10

function namesIn({ agents }: World): string {
  if (agents.length === 0) return 'You have no agents yet.'
  const names = agents.slice(0, FEW).map(({ name }) => name)
  return `Yours ${agents.length === 1 ? 'is' : 'are'}: ${names.join(', ')}${agents.length > FEW ? ', …' : ''}.`
}

function meaningOf(
  name: string,
  groups: Readonly<Record<string, string | undefined>>,
  found: Marked,
  world: World,
  sentence: string,
): Meaning {
  const agent = agentOf(groups, found, world)
  if (agent && 'question' in agent) return unclear(agent.question)
  if (name === 'limitUnclear')
    return unclear(
      `Is that a limit of ${agent?.name} for a day, for a month, or for one payment? Say it with the amount: 20 € a day.`,
    )
  const number = groups.number === undefined ? undefined : found.numbers[Number(groups.number)]
  if (number?.value === null)
    return unclear(
      `${number.as} can be read in two ways: a thousand and more, or one and a bit. Write it as 1234 or as 1.23.`,
    )
  const merchant =
    groups.merchant === undefined ? groups.someMerchant : found.merchants[Number(groups.merchant)]
  const text = groups.quoted === undefined ? groups.text : found.merchants[Number(groups.quoted)]
  const intentId = groups.intent === undefined ? undefined : found.intents[Number(groups.intent)]
  const value = number?.value
  const slots: Slots = {
    ...(agent ? { agent } : {}),
    ...(value === undefined ? {} : name === 'payments' ? { count: value } : { euros: value }),
    ...(found.per ? { per: found.per } : {}),
    ...(found.period ? { period: found.period } : {}),
    ...(merchant === undefined ? {} : { merchant: asTyped(merchant, sentence) }),
    ...(text === undefined ? {} : { text: asTyped(text, sentence) }),
    ...(intentId === undefined ? {} : { intentId }),
  }
  return { kind: 'asked', name, slots }
}

/** A name with the capitals in which it was typed. */
function asTyped(name: string, sentence: string): string {
  const at = sentence.toLowerCase().indexOf(name)
  const typed = at < 0 ? name : sentence.slice(at, at + name.length)
  return typed.toLowerCase() === name ? typed : name
}

/** The agent that is meant; a question where it could be several. */
function agentOf(
  { agent, someAgent }: Readonly<Record<string, string | undefined>>,
  found: Marked,
  world: World,
): NamedAgent | { readonly question: string } | undefined {
  if (agent === undefined && someAgent === undefined) return undefined
  const meant = agent === undefined ? world.agents : (found.agents[Number(agent)] ?? [])
  const [first, ...others] = meant
  if (!first) return { question: 'You have no agents yet. Say: create an agent called Reader.' }
  if (others.length === 0) return first
  if (agent === undefined) return { question: `Which agent do you mean? ${namesIn(world)}` }
  const ids = meant.map(({ id }) => id).join(', ')
  return {
    question: `${meant.length} agents are called ${first.name}: ${ids}. Name the one that you mean by its id.`,
  }
}
