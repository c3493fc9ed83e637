/*
 * Corecast for C++20: corecast.h with owners, spans, templates and exceptions.
 *
 *   corecast::team team(4);
 *   team.run([](corecast::member &member) {
 *     std::vector<double> data(100, 1.0);
 *     member.allreduce(data, corecast::sum);
 *   });
 *
 * Elements are of any trivially copyable type. Whatever goes wrong is a
 * corecast::error, whose what() quotes the input and says what to do.
 *
 * Threads: as in corecast.h. A member and each end of a queue belong to one
 * thread at a time; a team and a barrier to any.
 */
#ifndef CORECAST_HPP
#define CORECAST_HPP

#include "corecast/barrier.hpp"
#include "corecast/error.hpp"
#include "corecast/flight.hpp"
#include "corecast/member.hpp"
#include "corecast/operations.hpp"
#include "corecast/operators.hpp"
#include "corecast/queue.hpp"
#include "corecast/symmetric.hpp"
#include "corecast/team.hpp"

#endif /* CORECAST_HPP */
