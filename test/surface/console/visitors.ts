import type { areas } from '../../../src/areas.ts'
import type { PersonRole } from '../../../src/kernel/contract/scopes.ts'
import { type Owner, startTestService } from '../../support/harness.ts'
import { signedInTo } from '../../support/identity/console.ts'

export const service = await startTestService({ own: true })

export interface Visitor {
  readonly owner: Owner<typeof areas>
  read(
    path: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string; headers: Headers }>
}

/** A person of this account, or of a new one. */
export async function aVisitor(role: PersonRole = 'owner', account?: Owner<typeof areas>): Promise<Visitor> {
  const owner = account ?? (await service.owner())
  const { headers: session } = await signedInTo(service, owner, { role })
  return {
    owner,
    async read(path, headers = { accept: 'text/html' }) {
      const answer = await fetch(`${service.url}/${path}`, {
        headers: { ...session, ...headers },
        redirect: 'manual',
      })
      return { status: answer.status, text: await answer.text(), headers: answer.headers }
    },
  }
}
