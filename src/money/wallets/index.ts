export { WalletEvent, WalletRecord, walletClosed, walletsApi } from './api.ts'
export {
  closeAllWallets,
  closeWallet,
  firstOpenWallet,
  mainWallet,
  mainWalletId,
  onlyWallet,
  openWallet,
  type WalletRow,
  walletInPlaceOf,
  walletsById,
} from './lifecycle.ts'
export { type PayableWallet, payableWallets, sepaAccountOf } from './payable-wallets.ts'
export { walletEvent } from './response.ts'
export { isPurse, purseRefusal } from './wallet.ts'
export { findWallet } from './wallets.ts'
