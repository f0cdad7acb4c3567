import { interpret } from '../interpreter/interpret.ts'
import type { NamedAgent } from '../interpreter/meaning.ts'
import { type Line, say } from '../lines.ts'
import type { Page, Speaker } from '../speaker.ts'
import { changes } from './changes.ts'
import { aboutMoney } from './money.ts'
import { aboutRecords } from './records.ts'
import type { Answerer } from './words.ts'

const EXAMPLES = ['What did my agent spend this month?', 'Why was the last one refused?', 'What is waiting?']

const help: Answerer = async function* () {
  yield say(
    `I read, and I propose changes. For example:\n${EXAMPLES.map(one => `- ${one}`).join('\n')}\n- Let my agent spend 20 € a day at bookshop.example\n- Freeze my agent`,
  )
}

const answerers: Readonly<Record<string, Answerer>> = {
  ...aboutMoney,
  ...aboutRecords,
  ...changes,
  budgets: (_, speaker) => aboutMoney.left?.({}, speaker) ?? help({}, speaker),
  help,
}

/** Answers a sentence by the grammar; `otherwise` answers what it does not know, where there is something that can. */
export async function* answer(
  sentence: string,
  speaker: Speaker,
  otherwise?: () => AsyncGenerator<Line>,
): AsyncGenerator<Line> {
  const page = yield* speaker.ask<Page<NamedAgent>>('agents.list', { limit: 100 })
  if (!page) return
  const agents = page.data.map(({ id, name }) => ({ id, name }))
  const meaning = interpret(sentence, { agents, now: speaker.now })
  if (meaning.kind === 'unclear') return yield say(meaning.question)
  const answerer = meaning.kind === 'asked' ? answerers[meaning.name] : undefined
  if (meaning.kind === 'asked' && answerer) return yield* answerer(meaning.slots, speaker)
  if (otherwise) return yield* otherwise()
  yield say(
    `I do not know that. Three things that you can ask:\n${EXAMPLES.map(one => `- ${one}`).join('\n')}`,
  )
}
