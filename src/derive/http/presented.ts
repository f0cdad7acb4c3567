import type { IncomingMessage } from 'node:http'
import { sessionIn } from '../../kernel/contract/session-cookie.ts'

/** What a request shows of who sends it. */
export interface Presented {
  readonly authorization: string | undefined
  readonly dashboardSecret: string | undefined
  /** What a browser tells by itself; missing where no request by HTTP is behind it. */
  readonly browser?: Browser
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

export function presentedBy({ method, headers }: IncomingMessage, origins: PageOrigins): Presented {
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
  }
}

/** A header that came more than once, as one. */
export const single = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(', ') : header
