import type { Row } from '../../../kernel/contract/sql.ts'
import type { Line } from '../lines.ts'
import type { Speaking } from '../speaker.ts'

/** What was asked before in the conversation, and what was answered in words; null where nothing was. */
export interface EarlierTurn {
  readonly asked: string
  readonly answered: string | null
}

/** So much of a conversation a model is told: the last turns, each cut, and no more characters in all. */
const MOST = { turns: 10, asked: 2_000, answered: 3_000, all: 20_000 }

const LAST_TURNS = `
select message, lines from conversation_turns
where (owner_id, mode, conversation_id) = ($1, $2, $3) and id <> $4
order by id desc limit ${MOST.turns}`

interface KeptTurn extends Row {
  readonly message: string
  readonly lines: readonly Line[] | null
}

/** The last turns of a conversation before this one, the oldest first, as they are kept: without numbers of cards. */
export async function earlierTurns(
  { conversationId, turnId }: { readonly conversationId: string; readonly turnId: string },
  { tenant, readLater }: Pick<Speaking, 'tenant' | 'readLater'>,
): Promise<EarlierTurn[]> {
  const rows = await readLater<KeptTurn>(LAST_TURNS, [tenant.ownerId, tenant.mode, conversationId, turnId])
  const turns: EarlierTurn[] = []
  let left = MOST.all
  for (const { message, lines } of rows) {
    const turn = { asked: cut(message, MOST.asked), answered: wordsIn(lines) }
    left -= turn.asked.length + (turn.answered?.length ?? 0)
    if (left < 0) break
    turns.unshift(turn)
  }
  return turns
}

function wordsIn(lines: KeptTurn['lines']): string | null {
  const words = lines?.flatMap(line => (line.type === 'text' ? [line.text] : [])).join('\n')
  return words ? cut(words, MOST.answered) : null
}

const cut = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text
