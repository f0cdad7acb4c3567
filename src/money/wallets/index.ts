export { WalletEvent, WalletRecord, walletClosed, walletsApi } from './api.ts'
export {
  closeAllWallets,
  closeWallet,
  mainWallet,
  mainWalletId,
  onlyWallet,
  openWallet,
  type WalletRow,
  walletInPlaceOf,
  walletsById,
} from './lifecycle.ts'
export { type PayableWallet, payableWallets } from './payable-wallets.ts'
export { isPurse, purseRefusal } from './purse-refusal.ts'
export { walletEvent } from './response.ts'
export { sepaAccountOf } from './sepa-account.ts'
export { findWallet } from './wallets.ts'
