import { intentsApi } from '../../../../control/intents/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { euros, text, time } from '../../parts/text.ts'
import { againstItNow, askingRules, type Check, limitsLeft } from './checks.ts'
import type { Intent } from './waiting.ts'

/** An intent that waits, with all by which a person decides. */
export function waitingIntent(intent: Intent, now: readonly Check[] | undefined, request: PageRequest): Html {
  const { id, amountEuros, merchant, purpose, decision, runId } = intent
  return html`<article class="ask" data-key="${id}">
<h3>${euros(amountEuros)} to ${recordLink(request, id, text(merchant, 80))}</h3>
<p class="why">${text(purpose, 400)}</p>
${askingRules(intent, request)}${now && againstItNow(now)}
<p class="times">Asked ${time(intent.createdAt)}, waits until ${time(intent.expiresAt)}${runId !== null && html`, in run ${recordLink(request, runId)}`}</p>
<details class="more"><summary>${now ? 'What every limit leaves, then and now' : 'What every limit left when it asked'}</summary>${limitsLeft(decision, request, now)}</details>
${decideIntent(intent, request)}
</article>`
}

/** What is fetched again after a decision on a page with several. */
export const DECIDED = 'part:waiting,decided'

/** Approving takes a passkey, denying a reason; the page for phones shows the same intent with its limits as they are now. */
export function decideIntent({ id }: Pick<Intent, 'id'>, request: PageRequest, done = DECIDED): Html {
  const params = { id }
  const approve = operationForm(request, intentsApi.approve, {
    params,
    submit: 'Approve with passkey',
    tone: 'main',
    done,
    success: 'Approved. Your signature is kept as the proof.',
  })
  const deny = operationForm(request, intentsApi.deny, {
    params,
    members: ['reason'],
    submit: 'Deny',
    tone: 'against',
    done,
    success: 'Denied.',
    fold: true,
  })
  return html`<div class="decide">${approve}${deny}<a class="apart" href="${request.to(`approve/${id}`)}">Open for a phone</a></div>`
}
