import { newSecret } from '../../kernel/database/credential.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Secrets } from './dispatch/signature.ts'
import { sealContext, type Webhook } from './webhook.ts'

/** A new secret: to be shown once, and as it is kept. */
export function makeSecret(vault: Vault, webhookId: string) {
  const secret = newSecret('whsec_')
  return { secret, sealed: vault.seal(secret, sealContext(webhookId)), hint: secret.slice(-4) }
}

export type Sealed = Pick<Webhook, 'id' | 'secret' | 'nextSecret' | 'nextFrom'>

/** What counts at this instant: the next secret is the secret once its time has come. */
export function openSecrets(
  vault: Pick<Vault, 'open'>,
  { id, secret, nextSecret, nextFrom }: Sealed,
  now: Date,
): Secrets {
  const open = (sealed: string): string => vault.open(sealed, sealContext(id))
  if (nextSecret === null) return { current: open(secret), next: null }
  if (nextFrom && nextFrom <= now) return { current: open(nextSecret), next: null }
  return { current: open(secret), next: open(nextSecret) }
}

const REMEMBERED = 1_000

/** Opens each secret once for many deliveries: it took an eighth of their time. */
export function remembering(vault: Pick<Vault, 'open'>): Pick<Vault, 'open'> {
  const opened = new Map<string, string>()
  return {
    open(sealed, context) {
      const name = `${context}|${sealed}`
      const secret = opened.get(name) ?? vault.open(sealed, context)
      if (opened.size >= REMEMBERED) opened.clear()
      opened.set(name, secret)
      return secret
    },
  }
}

/** Where the next secret's time has come, or it is brought about: it takes the place of the old one. */
export function activate(webhook: Webhook): void {
  const { nextSecret, nextHint } = webhook
  if (nextSecret === null || nextHint === null) return
  Object.assign(webhook, { secret: nextSecret, hint: nextHint })
  Object.assign(webhook, { nextSecret: null, nextHint: null, nextFrom: null })
}
