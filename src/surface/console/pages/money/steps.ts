import { type Content, type Html, html } from '../../../../web/html.ts'
import { time } from '../../parts/text.ts'

export interface Step {
  /** What has happened, or is waited for. */
  readonly what: Content
  /** When; left out for what is still to come. */
  readonly at?: string | null
  readonly note?: Content
}

/** The way that a record has come, the oldest step first; what is still waited for stands last. */
export const steps = (all: readonly (Step | false)[]): Html => html`<ol class="steps">
${all.map(
  step =>
    step &&
    html`<li${!step.at && html` class="ahead"`}><strong>${step.what}</strong> ${step.at ? time(step.at) : html`<span class="none">still to come</span>`}
${step.note !== undefined && html`<p>${step.note}</p>`}</li>
`,
)}</ol>`
