import { auditApi } from '../../../../compliance/audit/index.ts'
import { Refused } from '../../../../kernel/contract/problem.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { time } from '../../parts/text.ts'

/** The newest checkpoint, and the proof of the trail where the address asks for it, as it reads every entry. */
export async function trail(request: PageRequest): Promise<Html> {
  const { query, part } = request
  const sealed = await sealedSoFar(request)
  const result = await part({
    id: 'trail',
    events: [],
    make: () => (query.verify === undefined ? html`` : verificationInWords(request)),
  })
  return html`${sealed}<form method="get" data-part="trail"><input type="hidden" name="verify" value="now"><button type="submit" class="main">Verify the trail</button></form>
${result}`
}

const count = (number: number): string => number.toLocaleString('en')

async function sealedSoFar({ ask }: PageRequest): Promise<Html> {
  const [checkpoint] = (await ask(auditApi.checkpoints, { query: { limit: 1 } })).data
  if (!checkpoint) return html`<p>Nothing is sealed yet: that takes two seconds.</p>`
  const { size, createdAt } = checkpoint
  return html`<p>${count(size)} ${size === 1 ? 'entry is' : 'entries are'} sealed, the newest ${time(createdAt)}.</p>`
}

async function verificationInWords({ ask }: PageRequest): Promise<Html> {
  try {
    const { ok, size, checkpoints, problem, unsealed } = await ask(auditApi.verify)
    const { entries } = unsealed
    const tail = entries === 0 ? '' : ` ${count(entries)} more will be sealed within two seconds.`
    if (ok)
      return html`<p class="proof good" role="status"><strong>The trail is as it was sealed.</strong> ${count(size)} entries were compared with their seals, the tree over them, and ${count(checkpoints)} signed checkpoints.${tail}</p>`
    return html`<div class="proof bad" role="alert"><p><strong>The trail was changed.</strong> The first wrong position is ${String(problem?.position ?? 0)}: ${problem?.message ?? ''} Keep your checkpoints, and tell the operator.</p></div>`
  } catch (error) {
    if (error instanceof Refused) return html`<p class="refusal" role="alert">${error.message}</p>`
    throw error
  }
}
