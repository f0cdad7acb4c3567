import type { Context } from '../../kernel/contract/context.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import type { PaymentRequest } from './request.ts'
import type { RequestRow } from './request-rows.ts'

/** The page for a person who is to pay. */
export const payUrlOf = (id: string, { ports }: Pick<Context, 'ports'>): string =>
  `${ports.publicUrl()}/pay/${id}`

/** The address for a program that is to pay. */
export const mppUrlOf = (id: string, { ports }: Pick<Context, 'ports'>): string =>
  `${ports.publicUrl()}/collect/402/${id}`

/** A request as its owner is shown it. */
export const requestResponse = <R extends PaymentRequest | RequestRow>(
  request: R,
  context: Pick<Context, 'ports'>,
) =>
  withMembers(request, {
    payUrl: payUrlOf(request.id, context),
    mppUrl: mppUrlOf(request.id, context),
  })
