import { newSecret } from '../../kernel/database/credential.ts'
import type { Vault } from '../../ports/vault.ts'
import { standardWebhookSecret, type WebhookSecrets } from '../../values/webhook-signature.ts'
import { type Webhook, webhookSecretContext } from './webhook.ts'

export function newWebhookSecret(vault: Vault, webhookId: string) {
  const secret = newSecret('whsec_')
  const secrets = { secret, standardSecret: standardWebhookSecret(secret) }
  return { secrets, sealed: vault.seal(secret, webhookSecretContext(webhookId)), hint: secret.slice(-4) }
}

export type SealedWebhookSecrets = Pick<Webhook, 'id' | 'secret' | 'nextSecret' | 'nextFrom'>

/** Opens the secrets that sign at this instant: the next secret replaces the current one at its time. */
export function openWebhookSecrets(
  vault: Pick<Vault, 'open'>,
  { id, secret, nextSecret, nextFrom }: SealedWebhookSecrets,
  now: Date,
): WebhookSecrets {
  const open = (sealed: string): string => vault.open(sealed, webhookSecretContext(id))
  if (nextSecret === null) return { current: open(secret), next: null }
  if (nextFrom && nextFrom <= now) return { current: open(nextSecret), next: null }
  return { current: open(secret), next: open(nextSecret) }
}

const MAX_CACHED = 1_000

/** A vault that opens each secret once for many deliveries: opening took an eighth of their time. */
export function cachingVault(vault: Pick<Vault, 'open'>): Pick<Vault, 'open'> {
  const opened = new Map<string, string>()
  return {
    open(sealed, context) {
      const name = `${context}|${sealed}`
      const secret = opened.get(name) ?? vault.open(sealed, context)
      if (opened.size >= MAX_CACHED) opened.clear()
      opened.set(name, secret)
      return secret
    },
  }
}

export function activateNextWebhookSecret(webhook: Webhook): void {
  const { nextSecret, nextHint } = webhook
  if (nextSecret === null || nextHint === null) return
  webhook.secret = nextSecret
  webhook.hint = nextHint
  webhook.nextSecret = null
  webhook.nextHint = null
  webhook.nextFrom = null
}
