import { setTimeout as pause } from 'node:timers/promises'
import type { Mail, MailMessage, MailOutcome } from '../../ports/mail.ts'

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with user and password where the server wants them. */
  readonly url: string
  readonly from: string
  readonly dkim: {
    readonly domain: string
    readonly selector: string
    readonly privateKey: string
  } | null
}

const SENDER_NAME = 'Agent Payments'

/** The library's timeouts begin again with each answer; this one covers the whole message. */
const SENT_WITHIN_MS = 45_000

const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)

/** TLS is required on the way to any other machine: a server that does not offer it gets no message. */
export function smtpTransport({ url, from, dkim }: SmtpOptions) {
  const { protocol, hostname, port, username, password } = new URL(url)
  const isSecure = protocol === 'smtps:'
  const isInClear = !isSecure && isLoopback(hostname)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    requireTLS: !isSecure && !isInClear,
    ignoreTLS: isInClear,
    // The name of this machine is not for others.
    name: domainOf(from),
    ...(username !== '' && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
    ...(dkim && {
      dkim: { domainName: dkim.domain, keySelector: dkim.selector, privateKey: dkim.privateKey },
    }),
    dnsTimeout: 10_000,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

export function smtpMail(options: SmtpOptions): Mail {
  // Imported with the first message, since most processes send none.
  const open = async () => (await import('nodemailer')).createTransport(smtpTransport(options))
  let transport: ReturnType<typeof open> | undefined
  return {
    async send(message) {
      transport ??= open()
      return withinTime((await transport).sendMail(mimeOf(message, options)))
    },
  }
}

const mimeOf = ({ to, subject, text, html, id }: MailMessage, { from }: SmtpOptions) => ({
  // Given as objects: a text would be parsed, and could name several people.
  from: { name: SENDER_NAME, address: from },
  to: { name: '', address: to },
  subject,
  text,
  html,
  messageId: `<${id}@${domainOf(from)}>`,
  headers: { 'Auto-Submitted': 'auto-generated' },
})

async function withinTime(sending: Promise<unknown>): Promise<MailOutcome> {
  const ended = new AbortController()
  const { signal } = ended
  const late = pause(SENT_WITHIN_MS, failure('The mail server took too long.', false), { signal, ref: false })
  const sent = sending.then((): MailOutcome => ({ kind: 'accepted' }), outcomeOfError)
  // Aborted after the race, it is rejected, and no one waits for it any more.
  late.catch(() => undefined)
  return Promise.race([sent, late]).finally(() => ended.abort())
}

const failure = (message: string, isFinal: boolean): MailOutcome => ({ kind: 'failed', message, isFinal })

/** A 5yz answer to a recipient or a message is final (RFC 5321); one to the sign-in is a matter of the settings. */
function outcomeOfError(error: { readonly code?: string; readonly responseCode?: number }): MailOutcome {
  const { code = 'unknown', responseCode } = error
  if (responseCode === undefined) return failure(`The mail server was not reached (${code}).`, false)
  const isFinal = responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE')
  return failure(`The mail server answered ${responseCode} (${code}).`, isFinal)
}
