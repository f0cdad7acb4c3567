import { type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { copyable } from './links.ts'
import { none } from './text.ts'

/** The run of a record's process in the Temporal Web UI; its workflow id to copy, where nobody has said where that is. */
export function runLink({ ports }: Pick<PageRequest, 'ports'>, workflowId: string | null): Html {
  if (workflowId === null) return none
  const address = ports.runUrl(workflowId)
  return address === null
    ? copyable(workflowId)
    : html`<a href="${address}" rel="noreferrer" target="_blank">Open its run in Temporal</a>`
}
