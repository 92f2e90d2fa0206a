#include "app/cancel_on_signal.h"

#include <csignal>

namespace dq::app {

CancelOnSignal::CancelOnSignal(Cancel cancel) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    thread_ = std::thread([this, cancel] {
        int signal = 0;
        sigwait(&signals_, &signal);
        if (done_) return;
        cancel.cancel();
        pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    });
}

CancelOnSignal::~CancelOnSignal() {
    done_ = true;
    pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
}

}  // namespace dq::app
