import type { IncomingMessage } from 'node:http'
import { sessionIn } from '../../kernel/contract/session-cookie.ts'

/** What a request shows of who sends it. */
export interface Presented {
  readonly authorization: string | undefined
  readonly dashboardSecret: string | undefined
  /** What a browser tells by itself; missing where no request by HTTP is behind it. */
  readonly browser?: Browser
  /** By what a device proves that it holds a key; missing where no request by HTTP is behind it. */
  readonly sent?: Sent
}

/** How a request was sent, which a proof of possession names. */
export interface Sent {
  /** The header `DPoP`. */
  readonly proof: string | undefined
  readonly method: string
  /** The addresses by which clients may know the one that was asked, without the query. */
  readonly addresses: readonly string[]
}

export interface Browser {
  /** The secret of the console session in the cookie. */
  readonly session: string | undefined
  /** Whether it is a GET or HEAD, which change nothing. */
  readonly isReading: boolean
  /** Whether a page of ours has sent the request, as the browser says, whom the page cannot make lie. */
  readonly isOfOurPage: boolean
  /** Whether the page asks by itself: nobody has done anything at it. */
  readonly isBackground: boolean
}

/** The origins of our pages; the first is that of the console. */
export type PageOrigins = () => readonly [string, ...string[]]

/** The addresses of the service: the public one, and those where it listens, without a slash at their end. */
export type OwnUrls = () => readonly string[]

export function presentedBy(
  { method = '', url = '', headers }: IncomingMessage,
  origins: PageOrigins,
  ownUrls: OwnUrls,
): Presented {
  const ours = origins()
  const { authorization, cookie, origin } = headers
  const fetchSite = single(headers['sec-fetch-site'])
  return {
    authorization,
    dashboardSecret: single(headers['x-dashboard-secret']),
    browser: {
      session: sessionIn(cookie, ours[0]),
      isReading: method === 'GET' || method === 'HEAD',
      isOfOurPage:
        fetchSite === undefined ? origin !== undefined && ours.includes(origin) : fetchSite === 'same-origin',
      isBackground: headers['x-background'] === 'true',
    },
    sent: {
      proof: single(headers.dpop),
      method,
      addresses: headers.dpop === undefined ? [] : ownUrls().map(own => own + url),
    },
  }
}

/** A header that came more than once, as one. */
export const single = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(', ') : header
