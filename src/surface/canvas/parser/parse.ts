import { extractEntities, type SentenceEntities } from './entities.ts'
import type { IntentSlots, NamedAgent, ParsedIntent, Vocabulary } from './parsed-intent.ts'
import { changePatterns, readPatterns, type SentencePattern } from './patterns.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  agent: '(?:‹agent(?<agent>\\d+)›|(?<someAgent>(?:the|my|our) agent|it|him|her|them))',
  number: '‹number(?<number>\\d+)›',
  merchant: "(?:‹merchant(?<merchant>\\d+)›|(?<someMerchant>[\\p{L}\\d][\\p{L}\\d &'.-]{0,60}))",
  intent: '‹intent(?<intent>\\d+)›',
  per: '‹per›',
  period: '‹period›',
  show: '(?:show|list|display|give|get|tell|see|view|open|find)(?: me)?(?: about)?',
}

/**
 * An agent may refer to itself, since its token sees no other agent. An owner with several agents is asked
 * which one is meant.
 */
const CHANGE_ENTITIES = { ...ENTITIES, agent: ENTITIES.agent?.replace('|it|', '|i|me|my|myself|it|') ?? '' }

const UNKNOWN_AGENT = "(?<unknownAgent>\\p{L}[\\p{L}\\d'_-]{0,40})"

interface Rule {
  readonly name: string
  readonly expression: RegExp
}

const compiled = (patterns: readonly SentencePattern[], entities: Readonly<Record<string, string>>): Rule[] =>
  patterns.flatMap(({ name, sentences }) =>
    sentences.map(sentence => ({
      name,
      expression: new RegExp(
        `^${sentence.replace(/\{(\w+)\}/g, (_, entity: string) => entities[entity] ?? '')}$`,
        'u',
      ),
    })),
  )

/** Changes are tried first, since "let Reader spend" is not a question. */
const strict = [...compiled(changePatterns, CHANGE_ENTITIES), ...compiled(readPatterns, ENTITIES)]
const lax = compiled(
  [...changePatterns, ...readPatterns].map(({ name, sentences }) => ({
    name,
    sentences: sentences.filter(sentence => sentence.includes('{agent}')),
  })),
  { ...ENTITIES, agent: UNKNOWN_AGENT },
)

const LONGEST = 400

export function parseSentence(sentence: string, vocabulary: Vocabulary): ParsedIntent {
  if (sentence.length > LONGEST) return { kind: 'unknown' }
  const found = extractEntities(sentence, vocabulary)
  for (const { name, expression } of strict) {
    const match = expression.exec(found.text)
    if (match) return requestOf(name, match.groups ?? {}, found, vocabulary, sentence)
  }
  for (const { expression } of lax) {
    const unknown = expression.exec(found.text)?.groups?.unknownAgent
    if (unknown !== undefined) return unclear(`You have no agent called ${unknown}. ${namesIn(vocabulary)}`)
  }
  return { kind: 'unknown' }
}

const unclear = (question: string): ParsedIntent => ({ kind: 'unclear', question })

const FEW = 10

function namesIn({ agents }: Vocabulary): string {
  if (agents.length === 0) return 'You have no agents yet.'
  const names = agents.slice(0, FEW).map(({ name }) => name)
  return `Your ${agents.length === 1 ? 'agent is' : 'agents are'}: ${names.join(', ')}${agents.length > FEW ? ', …' : ''}.`
}

function requestOf(
  name: string,
  groups: Readonly<Record<string, string | undefined>>,
  found: SentenceEntities,
  vocabulary: Vocabulary,
  sentence: string,
): ParsedIntent {
  const agent = agentOf(groups, found, vocabulary)
  if (agent && 'question' in agent) return unclear(agent.question)
  if (name === 'limitUnclear')
    return unclear(
      `Is that a daily limit, a monthly limit, or a limit per payment of ${agent?.name}? Say it with the amount: 20 € a day.`,
    )
  const number = groups.number === undefined ? undefined : found.numbers[Number(groups.number)]
  if (number?.value === null)
    return unclear(
      `${number.as} is ambiguous: is the separator for thousands or for decimals? Write it as 1234 or as 1.23.`,
    )
  const merchant =
    groups.merchant === undefined ? groups.someMerchant : found.merchants[Number(groups.merchant)]
  const intentId = groups.intent === undefined ? undefined : found.intents[Number(groups.intent)]
  const value = number?.value
  const slots: IntentSlots = {
    ...(agent ? { agent } : {}),
    ...(value === undefined ? {} : name === 'payments' ? { count: value } : { euros: value }),
    ...(found.per ? { per: found.per } : {}),
    ...(found.period ? { period: found.period } : {}),
    ...(merchant === undefined ? {} : { merchant: asTyped(merchant, sentence) }),
    ...(intentId === undefined ? {} : { intentId }),
  }
  return { kind: 'request', name, slots }
}

function asTyped(name: string, sentence: string): string {
  const at = sentence.toLowerCase().indexOf(name)
  const typed = at < 0 ? name : sentence.slice(at, at + name.length)
  return typed.toLowerCase() === name ? typed : name
}

function agentOf(
  { agent, someAgent }: Readonly<Record<string, string | undefined>>,
  found: SentenceEntities,
  vocabulary: Vocabulary,
): NamedAgent | { readonly question: string } | undefined {
  if (agent === undefined && someAgent === undefined) return undefined
  const meant = agent === undefined ? vocabulary.agents : (found.agents[Number(agent)] ?? [])
  const [first, ...others] = meant
  if (!first) return { question: 'You have no agents yet. Create one first.' }
  if (others.length === 0) return first
  if (agent === undefined) return { question: `Which agent do you mean? ${namesIn(vocabulary)}` }
  const ids = meant.map(({ id }) => id).join(', ')
  return {
    question: `${meant.length} agents are called ${first.name}: ${ids}. Name one by its ID.`,
  }
}
