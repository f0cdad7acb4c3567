import type { IntentApprovalProgress } from '../../control/intents/index.ts'
import { Person } from '../../identity/customers/index.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import { type Html, type HtmlContent, html, htmlToText } from '../../web/html.ts'
import type { Language } from '../../web/language.ts'
import { renderLocalizedTime } from './layout.ts'
import { consolePageTexts } from './texts.ts'
import type { ApproveTexts } from './texts-en.ts'

/** How far the approvals of several people have come, with their names. */
export interface ApprovalStepsView extends IntentApprovalProgress {
  readonly names: ReadonlyMap<string, string>
}

export async function readApprovalSteps(
  progress: IntentApprovalProgress,
  em: EntityReader,
): Promise<ApprovalStepsView> {
  const ids = [
    ...progress.approvals.flatMap(({ personId, inPlaceOf }) => [personId, inPlaceOf ?? personId]),
    ...progress.awaits,
    ...progress.steps.flatMap(({ of }) => of),
  ]
  const people = await em.find(Person, { id: { $in: [...new Set(ids)] } })
  return { ...progress, names: new Map(people.map(({ id, name }) => [id, name])) }
}

/** Placeholder for the time in a sentence, which a script shows in the reader's time zone. */
export const INSTANT = '\ufffc'

/** FIRST STRONG ISOLATE and its end keep right-to-left names from reordering the sentence. */
export const isolatedName = (name: string): string =>
  `\u2068${htmlToText(name, 80)}\u2069`.replaceAll(INSTANT, '')

export function renderSentenceWithTime(sentence: string, at: Date, language: Language): Html {
  const [before, after] = sentence.split(INSTANT)
  return html`${before}${renderLocalizedTime(language, at, 'in a sentence')}${after}`
}

type Approvers = ApprovalStepsView['steps'][number]['of']

interface Named {
  readonly people: string
  readonly isOne: boolean
}

function named(approvers: Approvers, { names }: ApprovalStepsView, language: Language): Named {
  const groups: Readonly<Record<string, string>> = consolePageTexts[language].approve.steps.groups
  const all = [approvers].flat()
  const shown = all.map(one => groups[one] ?? isolatedName(names.get(one) ?? one))
  return {
    people: new Intl.ListFormat(language).format(shown),
    isOne: all.length === 1 && !all.some(one => one in groups),
  }
}

/** What happens when the time of the present step ends. */
function atEnd(view: ApprovalStepsView, steps: ApproveTexts['steps'], language: Language): string {
  const [now, next] = view.steps.slice(view.step - 1)
  return now?.then === 'next' && next ? steps.thenAsked(named(next.of, view, language)) : steps.thenDenied
}

/** Who has approved, and who is asked until when: the intent may expire before the step ends. */
export function renderApprovalSteps(
  view: ApprovalStepsView | null,
  expiresAt: Date,
  language: Language,
): HtmlContent {
  if (view === null) return undefined
  const { steps } = consolePageTexts[language].approve
  const { given, needed, approvals, awaits, endsAt, names } = view
  const expires = endsAt !== null && expiresAt <= endsAt
  const end = expires ? steps.thenExpired : atEnd(view, steps, language)
  const asked = () => steps.asked(named(awaits, view, language), INSTANT, end)
  const nameOf = (id: string) => isolatedName(names.get(id) ?? id)
  const approved = ({ personId, inPlaceOf }: ApprovalStepsView['approvals'][number]) =>
    steps.approved(nameOf(personId), INSTANT, inPlaceOf === null ? null : nameOf(inPlaceOf))
  return html`<p class="until"><strong>${steps.count(given, needed)}</strong>${approvals.map(
    one => html` ${renderSentenceWithTime(approved(one), one.at, language)}`,
  )}${endsAt !== null && awaits.length > 0 && html` ${renderSentenceWithTime(asked(), expires ? expiresAt : endsAt, language)}`}</p>`
}
